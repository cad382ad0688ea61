#!/bin/sh
# The walk of study_by_script.py by commands alone, on the machine that runs Assay: a study is made of a table, its
# design changed, launched, judged, watched, reported and exported.
#
# sh examples/study_by_commands.sh OWNER FOLDER
set -eu
owner=$1
out=$2
: "${PYTHON:=.venv/bin/python}"

assay() { "$PYTHON" manage.py "$@"; }
# One fact of the document on standard input, such as: fact status
fact() { "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

cat > "$out/soups.csv" <<'TABLE'
item,prompt,aspen,birch
soup,Which soup can I make today?,"Leek soup, if you have an hour.",Soup.
eggs,How long do eggs boil?,Six minutes.,It depends: between six and ten minutes.
leek,What goes with leek?,"Potatoes, cream and nutmeg.",Fish.
salt,Why salt pasta water?,For taste.,"The salt goes into the dough, where it is tasted."
TABLE

# A refusal ends the script: its last line names each reason.
assay import_study "$out/soups.csv" --slug soups --title Soups --owner "$owner" --yes --json > "$out/import.json"
assay design soups --set rules.redundancy=2 --set rules.contact=lab@example.org --by "$owner"
assay launch soups --check
assay launch soups --confirm --json | fact status

for judge in longer random; do
    assay run_judge soups --judge "$judge" --yes --json > "$out/$judge.json"
done
assay runs soups
assay participants soups

assay report soups --format csv --out "$out/tables" --json > "$out/report.json"
assay export soups --format jsonl --out "$out/study.jsonl" --json | fact sha256
assay status soups close --reason 'Judged.' --json | fact status
