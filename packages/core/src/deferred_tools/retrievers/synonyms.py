"""What people in this field call one thing by several names: data, and how to read it.

One group a line, its members divided by commas; a member may be several words. A host's own
words belong in `ToolSpec.aliases`, not here.
"""

from collections.abc import Callable

LONGEST = 3
"""Words in the longest member."""

ABBREVIATIONS = """
a11y, accessibility
acct, account
addr, address
admin, administrator
ai, artificial intelligence
app, application
appt, appointment
arg, argument, param, parameter
attr, attribute
auth, authentication, authorization
avg, average, mean
aws, amazon web services
btc, bitcoin
cal, calendar
calc, calculate
cert, certificate
ci, continuous integration
cli, command line
cmd, command
col, column
config, configuration, cfg, settings
crypto, cryptocurrency
cv, resume
db, database
dep, dependency
dest, destination
dev, development
diff, difference
dir, directory, folder
dm, direct message
doc, document
env, environment
eth, ethereum
exec, execute
fb, facebook
fs, file system, filesystem
func, function
fx, forex, foreign exchange, currency exchange
gcal, google calendar
gcp, google cloud
gdrive, google drive
geo, geographic
gh, github
hr, human resources
i18n, internationalization
id, identifier
ig, instagram
img, image
info, information
js, javascript
k8s, kubernetes, kube
lat, latitude
lib, library
llm, language model
lon, lng, longitude
max, maximum
md, markdown
mfa, 2fa, two factor
min, minimum
ml, machine learning
mr, merge request
msg, message
ns, namespace
num, number
ocr, text recognition
org, organization, organisation
os, operating system
pct, percent, percentage
perf, performance
pic, picture
pkg, package
po, purchase order
ppt, pptx, powerpoint
pr, pull request
prod, production
prop, property
py, python
qty, quantity
rand, random
ref, reference
regex, regular expression
repo, repository
sms, text message
spec, specification
src, source
sso, single sign on
stat, statistic
stt, speech to text
svc, service
sync, synchronize
tel, telephone, phone
temp, temperature
tmp, temporary
todo, to do
ts, typescript
tts, text to speech
tz, timezone, time zone
url, link
usd, dollar
var, variable
vid, video
vm, virtual machine
xls, xlsx, excel
yt, youtube
"""

NEAR = """
abort, cancel, halt, kill, stop, terminate
account, member, person, profile, user
add, build, create, generate, insert, make, new, register
alarm, alert, notification, reminder
album, artist, audio, music, song, track
analysis, analyze, assess, examine, inspect, review
appointment, calendar, event, meeting, schedule
archive, backup, compress, zip
article, headline, news, story
assign, delegate, owner
attach, import, upload
authenticate, login, sign in
begin, execute, invoke, launch, run, start, trigger
bill, charge, invoice, payment, receipt
book, reserve, reservation, booking
branch, commit, git, repository
browse, enumerate, list
bug, defect, issue, ticket
buy, order, purchase, shop
calculate, compute, evaluate
change, edit, modify, patch, set, update
chart, diagram, graph, plot, visualize
chat, dm, message, sms, text
city, location, place
clear, delete, destroy, drop, erase, purge, remove
climate, forecast, temperature, weather
clip, cut, trim
clone, copy, duplicate, replicate
coin, cryptocurrency, token
company, business, firm
compare, contrast, difference
convert, export, transform
cook, dish, food, ingredient, meal, recipe
coordinate, geocode, latitude, longitude
cost, price, quote, rate
course, class, lesson, lecture, education
crawl, extract, scrape
currency, exchange, money
customer, client, lead
database, query, sql, table
date, day, time
deliver, post, publish, send, submit
delivery, package, parcel, shipment, shipping
dictionary, definition, meaning
dine, eat, restaurant
diet, exercise, fitness, nutrition, workout
direction, drive, navigate, route
discount, coupon, deal, promotion
discover, find, locate, lookup, query, search
disease, doctor, health, medical, patient, symptom
document, docx, word
download, fetch, save
email, inbox, mail
employee, staff, worker
employment, career, hire, job, vacancy
excel, sheet, spreadsheet
exception, error, failure, stack trace
fetch, get, load, obtain, read, retrieve, view
fix, repair, resolve
flight, airline, airport, plane
game, match, play
gift, present
hotel, accommodation, lodging, room, stay
house, apartment, home, property, real estate
image, photo, photograph, picture
internet, online, site, url, web, website
journey, itinerary, tour, travel, trip, vacation
largest, max, maximum, top
law, court, legal
league, club, sport, team
log, audit, history, trace
merge, combine, join
movie, film, series, tv, video
move, rename, relocate, transfer
paper, academic, arxiv, publication, scholar
permission, access, role
powerpoint, deck, presentation, slide
product, goods, item
screenshot, capture, snapshot
secret, credential, password
share, equity, stock, ticker
show, display, view
smallest, min, minimum
split, divide
subscribe, follow
summarize, abstract, digest, summary
task, todo
translate, language, translation
vulnerability, security, cve
"""

_WEIGHTS = ((ABBREVIATIONS, 0.5), (NEAR, 0.2))

Synonyms = dict[tuple[str, ...], dict[str, float]]
"""Stems of a word or phrase, to the stems that may stand for it and how much they weigh."""


def read(stem: Callable[[str], str]) -> Synonyms:
    """The tables above as a look-up by stems."""
    found: Synonyms = {}
    for table, weight in _WEIGHTS:
        for line in table.strip().splitlines():
            group = [tuple(map(stem, member.split())) for member in line.split(",")]
            for member in group:
                others = found.setdefault(member, {})
                for other in group:
                    for word in other if other != member else ():
                        # The words of a phrase share its weight: each alone says less.
                        share = weight / len(other) ** 0.5
                        others[word] = max(share, others.get(word, 0.0))
    return found
