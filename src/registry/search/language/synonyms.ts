import { stem } from "./stem.ts";

/**
 * Words that stand for one another in requests and in the descriptions of tools, one group a line, from everyday
 * language. A word may be in several groups.
 */
const GROUPS = `
  find search lookup seek locate discover explore
  find discover identify
  get fetch retrieve obtain read load pull
  list enumerate show display view browse
  create make add new insert
  make generate produce build compose
  write draft compose
  save store keep put write
  remove delete erase discard drop clear cancel
  cancel abort revoke undo annul
  update edit modify change alter revise amend adjust patch
  replace substitute swap
  send deliver dispatch transmit forward
  post publish submit share
  upload import attach
  download export
  open launch start begin run execute play
  stop end halt terminate kill quit close finish
  pause suspend hold
  resume continue restart
  enable activate on
  disable deactivate off
  turn switch toggle
  connect join link attach
  disconnect leave detach
  install setup configure
  deploy release ship
  schedule plan arrange organize organise
  schedule calendar agenda timetable event
  book reserve reservation booking
  appointment meeting visit
  event festival concert activity
  meeting call conference transcript
  remind reminder alarm alert notify notification
  register signup enroll enrol subscribe registration join
  login signin authenticate authentication logon
  buy purchase order acquire shop shopping
  sell sale
  product item good merchandise goods
  shop store mall supermarket
  pay payment checkout charge transaction
  price cost fee rate expense
  cheap affordable inexpensive budget discount deal coupon bargain
  refund return reimburse
  bill invoice receipt
  bank account balance
  loan mortgage credit lending debt
  finance financial money economic
  invest investment stock share equity portfolio fund
  stock dividend market finance
  crypto cryptocurrency bitcoin ethereum coin token blockchain nft
  crypto finance
  tax vat duty
  salary wage income earning pay
  currency exchange forex dollar euro
  convert transform conversion
  translate translation interpreter language
  calculate compute calculator calculation math
  estimate predict forecast projection prediction
  count number total quantity
  sum add total plus
  average mean
  multiply product times
  divide quotient
  subtract difference minus
  measure measurement metric
  compare comparison versus contrast difference
  analyze analyse analysis examine inspect evaluate assess study
  check verify validate confirm test
  review rating feedback opinion
  rank ranking rate top leaderboard
  recommend recommendation suggest suggestion advice propose advise tip
  improve enhance optimize boost increase
  rephrase rewrite paraphrase reword polish
  summarize summary digest abstract overview
  explain describe clarify description
  information info detail profile
  define definition meaning dictionary
  history historical past record
  latest recent current now today
  news headline article story press
  blog article post
  weather climate temperature forecast rain snow humidity
  hot warm heat
  cold chill cool
  time clock hour
  date day calendar
  zone timezone
  map route direction navigation navigate
  distance far length
  location place address position coordinate geography
  city town
  country nation state
  near nearby close local around
  travel trip journey vacation holiday tour tourism tourist itinerary destination
  tourist attraction sightseeing landmark
  flight airline plane fly airport aviation
  hotel lodging accommodation stay room motel hostel
  car vehicle auto automobile
  taxi cab ride
  train rail railway
  bus transit transport transportation
  restaurant dining eat cafe food
  food meal dish cuisine
  recipe cook cooking ingredient dish
  diet nutrition calorie
  drink beverage wine beer
  movie film cinema
  series show tv television
  video clip footage youtube vlog
  watch stream streaming
  music song track tune audio
  playlist album
  artist singer musician band
  podcast episode
  book novel literature ebook fiction
  author writer
  read reading
  game play puzzle trivia
  guess riddle
  sport team match football basketball soccer
  player athlete
  image picture photo photograph
  camera photo
  screenshot capture snapshot
  art artwork painting
  draw paint sketch illustrate
  design designer layout
  logo brand branding
  banner poster flyer
  color colour
  diagram chart graph plot visualize visualization
  document doc file pdf
  folder directory
  spreadsheet excel sheet csv
  presentation slide deck powerpoint
  message sms text chat
  mail email inbox
  phone telephone dial call
  contact person people
  user member account
  customer client
  employee staff worker
  hire hiring recruit recruitment talent
  job career employment work vacancy occupation
  resume cv
  doctor physician medic
  hospital clinic
  health wellness medical
  disease illness condition disorder
  symptom rash fever cough pain ache headache
  medicine drug medication pharmaceutical
  exercise workout fitness training
  meditate meditation mindfulness
  school university college education
  student pupil learner
  teacher tutor instructor
  course class lesson curriculum tutorial
  observe study teach education
  exam test quiz
  paper publication research scholar academic
  science scientific
  org organization organisation
  pr pull
  company business firm corporation organization enterprise
  market marketing
  advertise advertisement ad campaign promotion promotional
  seo keyword backlink ranking
  website site webpage page web
  url link
  browse browser web internet online
  code program programming script coding
  repository repo git github
  bug issue ticket problem
  error fault failure exception
  database db sql
  record row entry
  column field
  query select
  host server
  configuration config setting option preference
  light lamp bulb
  lock secure
  device appliance gadget
  house home
  property estate house housing apartment
  rent rental lease
  law legal legislation regulation rule statute
  lawyer attorney
  court lawsuit litigation trial case
  police crime criminal
  insurance coverage
  security safety
  password credential
  random dice
  joke humor funny laugh
  gift present birthday
  ticket admission
  astrology horoscope zodiac
  tarot fortune
  pet animal dog cat
  plant garden flower
  child kid baby
  tweet twitter
  social facebook instagram tiktok twitter
  clothes clothing fashion outfit apparel shirt wear
  beauty makeup cosmetic
  furniture chair sofa
  hair salon
  spell spelling grammar
  sort order
  filter select
  merge combine join concatenate
  split separate divide
  copy duplicate clone
  move transfer relocate
  compress zip
  extract parse scrape crawl
  monitor track tracking observe watch
  status state condition
  size dimension
  large big
  small little
  fast quick rapid
  task todo
  note memo
  goal target objective
  habit routine
  support service
  question ask faq answer
  reply answer respond response
  charity donate donation nonprofit
  vote election poll
  government politics political politician parliament
  shipping shipment delivery parcel package
  probability chance likelihood odds
  statistics statistic stat
  equation formula solve
  space nasa astronomy planet
  electric ev
  power energy electricity
  memory remember recall
`;

/** Stem → the stems that may stand in its place. */
const SYNONYMS: ReadonlyMap<string, ReadonlySet<string>> = parseSynonyms(GROUPS.trim().split("\n"));

const NONE: ReadonlySet<string> = new Set();

export function getSynonyms(word: string): ReadonlySet<string> {
  return SYNONYMS.get(word) ?? NONE;
}

function parseSynonyms(groups: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const synonyms = new Map<string, Set<string>>();
  for (const group of groups) {
    const stems = group.trim().split(/\s+/).map(stem);
    for (const each of stems) {
      const others = synonyms.get(each) ?? new Set();
      for (const other of stems) if (other !== each) others.add(other);
      synonyms.set(each, others);
    }
  }
  return synonyms;
}
