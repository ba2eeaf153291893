const listed = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that carry no meaning in a request: dropped from a query if other words remain. */
export const STOP_WORDS: ReadonlySet<string> = listed(`
  a an the and or but nor if then so than that this these those there here it its itself
  is am are was were be been being do does did doing done have has had having
  can could would should shall will may might must cannot
  i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers they them their theirs
  one ones someone anyone everyone something anything everything who whom whose what which when where why how whether
  to of in on at by for from with about into onto upon over under as up off out through between within without against
  during before after above below since until while per via not no only own same too very just also any all some each
  every both few more most other another such quite rather really well even still already yet again ever never always
  often once s t m d ll re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven
  please kindly let lets hi hello hey dear thanks thank thankful appreciate grateful okay ok yes sure sorry
  want wants wanted wanting need needs needed needing like liked would wish wishes hope hoping try trying able
  possible possibly help helps helping assist assists assisting assistance tell tells telling show give gives giving
  given provide provides providing know knowing looking interested curious wondering wonder think thinking believe
  guess suppose seem seems first firstly secondly third thirdly lastly finally additionally furthermore moreover
  afterwards afterward meanwhile besides otherwise however therefore thus hence because due specifically particularly
  especially preferably ideally currently basically actually simply quickly easily exactly directly
  including include includes included regarding concerning related relevant based according specific specified certain
  particular various several different respective respectively appropriate suitable make makes making made take takes
  taking took go goes going come comes coming bring got getting gets use uses used using way ways thing things lot lots
  kind sort bit am pm im etc eg ie
`);

/** Words that most requests and most methods contain: they count less. */
export const WEAK_WORDS: ReadonlySet<string> = listed(`
  find get search look retrieve fetch obtain gather collect receive access create generate produce set add new
  check see view display list identify determine calculate compute estimate analyze analysis
  information info detail details detailed data result results value values number numbers amount name named called
  title id identifier type current latest recent available time date day year month today best good great top
  popular comprehensive complete full overall
`);
