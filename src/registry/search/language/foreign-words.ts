/**
 * Stop words of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Turkish and Russian, without accents:
 * a word of a method that looks like one of them is another word, not the right spelling.
 */
export const FOREIGN_STOP_WORDS: ReadonlySet<string> = new Set(
  `
  der die das den dem des ein eine einen einem einer eines und oder aber nicht mit von vom zum zur fur auf aus bei nach
  uber unter vor wie was wer wann warum welche welcher welches ist sind war waren wird werden wurde hat haben kann konnen
  soll sollen muss mussen mochte ich wir sie ihr mir mich dir dich uns euch sein seine mein meine dein alle alles auch noch
  nur schon sehr bitte diese dieser dieses fuer ueber moechte koennen muessen einmal jetzt heute hier dort mal
  les une des dans pour par sur avec sans sous chez entre vers mais donc car que qui quoi dont quel quelle quels quelles
  est sont etait etaient sera etre avoir fait faire peut peux dois doit veux veut voudrais nous vous ils elles leur leurs
  mon mes ton tes son ses notre votre cette ces cet tout tous toute toutes aussi tres plus moins bien merci plait quand
  comment pourquoi ou et
  los las una unos unas del con sin para por sobre entre hasta desde pero como cual cuales quien donde cuando porque
  este esta estos estas ese esa esos esas aquel eres son fue fueron ser estar tiene tener puede puedo quiero necesito
  nosotros ustedes ellos ellas mis tus sus nuestro muy mas menos todo todos toda todas tambien favor hola
  gli uno della delle dello degli dei nel nella nelle sul sulla con senza per tra fra che chi cui come dove quando perche
  sono era erano essere avere puo posso devo voglio vorrei noi voi loro mio mia tuo tua suo sua nostro questo questa questi
  queste quello quella tutto tutti anche molto piu meno grazie
  uma uns umas dos das nos nas pelo pela pelos pelas com sem ate mas qual quais quem onde sao foi tem ter pode quero preciso
  meu minha teu tua seu sua nosso isto isso esse essa muito mais tambem obrigado voce voces eles elas nao
  het een van voor naar met zonder over onder tussen maar want dat die deze dit wie wat waar wanneer waarom hoe welke zijn
  was waren wordt worden heeft hebben kan kunnen moet moeten wil graag wij jullie zij hun mijn jouw onze alle alles ook nog
  niet wel zeer geen naar bij uit
  jest byc byl byla sie oraz ale lub albo czy nie tak dla bez nad pod przed przez przy jak kto kiedy gdzie dlaczego ktory
  ktora ktore moze musze chce prosze moj moja twoj jego jej nasz ten tych tego tej wszystko tylko bardzo
  och att det den som for med utan till fran vid mot men eller inte kan ska skall vill maste har hade vara blir jag mig dig
  han hon oss dem min mitt mina din ditt dina sin sitt sina vad vem var nar hur varfor vilken denna detta alla allt mycket
  bir icin ile veya ama gibi daha cok nasil neden nerede hangi kim olan olarak var yok ben sen biz siz onlar bana sana bunu
  sunu lutfen
  и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
  из ему теперь когда даже ну ли если уже или ни быть был него до вас опять вам ведь там потом себя ей они тут где есть надо
  ней для мы тебя их чем была сам чтоб без чего раз тоже себе под будет этот того потому этого какой ним здесь этом один мой
  тем чтобы нее сейчас были куда зачем всех можно при это пожалуйста
`
    .trim()
    .split(/\s+/),
);
