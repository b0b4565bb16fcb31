"""The look of the report page: one column of text, wide tables and figures, nothing loaded from elsewhere."""

from __future__ import annotations

CSS = """
:root {
  --ink: #1f2328; --soft: #5b6470; --line: #dfe3e8; --wash: #f6f7f9; --link: #0b5a8f;
  --yes: #17694a; --yes-wash: #e3f2ea; --no: #a3341f; --no-wash: #fae8e3; --open: #6b5a16; --open-wash: #f6f0d9;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: Charter, "Bitstream Charter", "Source Serif 4", Georgia, "Times New Roman", serif;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; color: var(--ink); background: #fff; font: 17px/1.58 var(--serif); }
main, header.top, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem; }
header.top { padding-top: 3.2rem; }
h1 { font: 600 2.3rem/1.15 var(--sans); letter-spacing: -0.02em; margin: 0 0 0.6rem; text-wrap: balance; }
h2 { font: 600 1.4rem/1.25 var(--sans); letter-spacing: -0.01em; margin: 3.2rem 0 0.9rem; padding-top: 1.1rem;
  border-top: 1px solid var(--line); }
h3 { font: 600 1.02rem/1.35 var(--sans); margin: 2rem 0 0.5rem; }
p, ul, dl { max-width: 42rem; margin: 0 0 0.9rem; }
li { margin-bottom: 0.35rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
.lead { font-size: 1.16rem; line-height: 1.5; color: #3a424c; max-width: 46rem; }
.kicker { font: 600 0.8rem/1.4 var(--sans); letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft);
  margin: 0 0 0.7rem; }
nav { font: 0.92rem/1.9 var(--sans); margin: 1.4rem 0 0; }
nav a { margin-right: 1.2rem; white-space: nowrap; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.86em; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem 0.9rem;
  overflow-x: auto; max-width: 46rem; }
.tally { display: flex; flex-wrap: wrap; gap: 0.6rem; margin: 1.2rem 0 1.4rem; padding: 0; list-style: none;
  max-width: none; }
.badge { display: inline-block; font: 600 0.84rem/1.3 var(--sans); padding: 0.2rem 0.6rem; border-radius: 999px;
  white-space: nowrap; }
.holds { color: var(--yes); background: var(--yes-wash); }
.fails { color: var(--no); background: var(--no-wash); }
.open { color: var(--open); background: var(--open-wash); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font: 0.9rem/1.45 var(--sans); width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 0.82rem; }
th, td { padding: 0.5rem 0.8rem 0.5rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
table.small { width: auto; margin: 0.4rem 0 1.2rem; }
table.small th, table.small td { padding: 0.28rem 0 0.28rem 1.5rem; }
table.small th:first-child { padding-left: 0; }
td.number, th.number { text-align: right; white-space: nowrap; }
tbody th { color: var(--ink); font-size: inherit; font-weight: 500; }
table.claims > tbody > tr > td { padding: 0.9rem 1.2rem 0.9rem 0; }
table.claims td.id { font-weight: 600; color: var(--soft); width: 3rem; }
table.claims td.said { font: 1rem/1.45 var(--serif); }
table.claims td.found { width: 15rem; }
table.claims td.word { width: 9.5rem; padding-right: 0; }
td.said > p { margin: 0; }
sub, sup { line-height: 0; }
.part { color: var(--soft); font-size: 0.82rem; display: block; }
.value { font-weight: 600; }
.whisker { display: block; width: 100%; max-width: 13rem; height: 18px; margin-top: 0.3rem; }
details { margin-top: 0.45rem; font: 0.86rem/1.5 var(--sans); color: #3a424c; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
details p { margin: 0.5rem 0; }
details ul { margin: 0; padding-left: 1.1rem; }
details table { font-size: 0.82rem; width: auto; margin: 0.6rem 0; }
details th, details td { padding: 0.2rem 1.1rem 0.2rem 0; white-space: nowrap; }
figure { margin: 1.6rem 0 2.6rem; }
figure img { display: block; height: auto; margin: 0.4rem 0 0.7rem; }
figure h3 { margin-top: 0; }
figcaption { font: 0.92rem/1.5 var(--sans); color: #3a424c; max-width: 46rem; }
figcaption .files { color: var(--soft); white-space: nowrap; }
dt { font: 600 0.95rem/1.4 var(--sans); margin-top: 0.8rem; }
dd { margin: 0.1rem 0 0; }
.note { background: var(--wash); border-left: 3px solid #b9c2cc; padding: 0.6rem 0.9rem; max-width: 42rem;
  font-size: 0.95rem; }
footer { font: 0.84rem/1.5 var(--sans); color: var(--soft); margin-top: 3.5rem; padding-bottom: 3rem; }
@media screen and (max-width: 46rem) {
  body { font-size: 16px; }
  main, header.top, footer { padding-left: 1.1rem; padding-right: 1.1rem; }
  header.top { padding-top: 1.8rem; }
  h1 { font-size: 1.7rem; }
  table.small th, table.small td { padding-left: 0.55rem; font-size: 0.79rem; }
  table.claims, table.claims > tbody { display: block; }
  table.claims > thead { display: none; }
  table.claims > tbody > tr { display: grid; grid-template-columns: 2.6rem 1fr; border-bottom: 1px solid var(--line);
    padding: 0.9rem 0; }
  table.claims > tbody > tr > td { border: 0; padding: 0 0 0.45rem; min-width: 0; width: auto; }
  table.claims > tbody > tr > td.found, table.claims > tbody > tr > td.word { grid-column: 2; width: auto; }
  table.claims > tbody > tr > td.word { order: 3; padding-bottom: 0; }
  details .scroll { max-width: calc(100vw - 4.8rem); }
}
@media print {
  html { font-size: 12px; }
  body { font-size: 10pt; }
  main, header.top, footer { max-width: none; padding: 0; }
  nav, summary { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
  table.claims { table-layout: fixed; }
  table.claims > thead th:nth-child(1) { width: 1cm; }
  table.claims > thead th:nth-child(3) { width: 4.6cm; }
  table.claims > thead th:nth-child(4) { width: 2.7cm; }
  details th, details td { white-space: normal; padding-right: 0.6rem; }
  figure, tr { break-inside: avoid; }
  figure img { max-height: 16cm; object-fit: contain; object-position: left; }
  h2, h3 { break-after: avoid; }
  .badge { border: 1px solid currentColor; }
  a { color: inherit; text-decoration: none; }
}
"""
