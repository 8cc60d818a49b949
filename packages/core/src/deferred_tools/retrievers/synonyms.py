"""What people in this field call one thing by several names: data, and how to read it.

One group a line, its members divided by commas; a member may be several words. A host's own
words belong in `ToolSpec.aliases`, not here.
"""

from collections.abc import Callable
from itertools import permutations

LONGEST = 3
"""Words in the longest member."""

# The same thing, spelt otherwise.
ABBREVIATIONS = """
a11y, accessibility
acct, account
addr, address
admin, administrator
ai, artificial intelligence
app, application
appt, appointment
arg, argument, param, parameter
auth, authentication, authorization
avg, average, mean
aws, amazon web services
btc, bitcoin
calc, calculate
cert, certificate
ci, continuous integration
cli, command line
cmd, command
col, column
config, configuration, cfg, settings
crypto, cryptocurrency
cv, resume
db, dbs, database
dep, dependency
dest, destination
dev, development
diff, difference
dir, directory, folder
dm, dms, direct message
doc, document
env, environment
eth, ethereum
exec, execute
fs, file system, filesystem
func, function
fx, forex, foreign exchange, currency exchange
gcal, google calendar
gcp, google cloud
gdrive, google drive
gh, github
hr, human resources
i18n, internationalization
id, identifier
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
mr, mrs, merge request
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
ppt, pptx, powerpoint
pr, prs, pull request
prod, production
py, python
qty, quantity
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
ts, typescript
tts, text to speech
tz, timezone, time zone
url, link
var, variable
vid, video
vm, vms, virtual machine
xls, xlsx, excel
yt, youtube
"""

# Not the same, but a request for one is often met by another.
NEAR = """
abort, cancel, halt, kill, stop, terminate
abstract, digest, summarize, summary
academic, arxiv, paper, publication, scholar
access, permission, role
accommodation, hotel, lodging, room, stay
account, member, person, profile, user
add, build, create, generate, insert, make, new, register
airline, airport, flight, plane
alarm, alert, notification, remind, schedule
album, artist, audio, music, song, track
analysis, analyze, assess, examine, inspect, review
appointment, calendar, event, meeting, schedule
article, headline, news, story
attach, import, upload
authenticate, login, sign in
bill, invoice, payment, receipt
book, booking, reservation, reserve
branch, commit, git, repository
browse, enumerate, list
bug, defect, issue, ticket
business, company, firm
buy, order, purchase, shop
calculate, compute, evaluate
capture, screenshot, snapshot
career, employment, hire, job, vacancy
change, edit, modify, patch, set, update
chart, diagram, graph, plot, visualize
chat, dm, message, sms, text
city, location, place
class, course, education, lecture, lesson
clear, delete, destroy, drop, erase, purge, remove
client, customer, lead
climate, forecast, temperature, weather
clip, cut, trim
clone, copy, duplicate, replicate
club, league, sport, team
coin, cryptocurrency, token
compare, contrast, difference
convert, export, transform
cook, dish, food, ingredient, meal, recipe
coordinate, geocode, latitude, longitude
cost, price, quote, rate
coupon, deal, discount, promotion
court, law, legal
crawl, extract, scrape
credential, password, secret
currency, exchange, money
cve, security, vulnerability
database, query, sql, table
date, day, time
deck, powerpoint, presentation, slide
delivery, package, parcel, shipment, shipping
dine, eat, restaurant
direction, drive, navigate, route
discover, find, locate, lookup, query, search
disease, doctor, health, medical, patient, symptom
document, file, word
download, fetch, save
email, inbox, mail
employee, staff, worker
equity, share, stock, ticker
error, exception, failure
excel, sheet, spreadsheet
execute, invoke, launch, run, start, trigger
fetch, get, load, obtain, read, retrieve, show, view
film, movie, series, tv, video
game, match, play
goods, item, product
image, photo, photograph, picture
internet, online, site, url, web, website
itinerary, journey, tour, travel, trip, vacation
language, translate, translation
largest, max, maximum, top
log, audit, history
min, minimum, smallest
move, relocate, rename, transfer
post, publish, send, submit
"""

_WEIGHTS = ((ABBREVIATIONS, 0.6), (NEAR, 0.24))

Synonyms = dict[tuple[str, ...], dict[str, float]]
"""Stems of a word or phrase, to the stems that may stand for it and how much they weigh."""


def read(stem: Callable[[str], str]) -> Synonyms:
    """The tables above as a look-up by stems."""
    found: Synonyms = {}
    for table, weight in _WEIGHTS:
        for line in table.strip().splitlines():
            group = [tuple(map(stem, member.split())) for member in line.split(",")]
            for member, other in permutations(group, 2):
                others = found.setdefault(member, {})
                # The words of a phrase share its weight: each alone says less.
                share = weight / len(other) ** 0.5
                for word in other:
                    others[word] = max(share, others.get(word, 0.0))
    return found
