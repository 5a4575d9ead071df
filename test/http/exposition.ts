/** One metric of a page. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads a page in Prometheus' text format; throws where it is none. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the page does not end with a line feed');
  const families = new Map<string, { name: string; help: string; type: string; samples: Sample[] }>();
  let family: { name: string; help: string; type: string; samples: Sample[] } | undefined;
  for (const line of text.split('\n').filter(Boolean)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? [];
    if (word === 'HELP') {
      if (families.has(name)) throw new Error(`${name} has HELP twice`);
      family = { name, help: rest, type: '', samples: [] };
      families.set(name, family);
    } else if (word === 'TYPE') {
      if (family?.name !== name || family.type !== '') throw new Error(`TYPE of ${name} is out of place`);
      family.type = rest;
    } else {
      if (!family) throw new Error(`a sample without a metric: ${line}`);
      family.samples.push(parseSample(line));
    }
  }
  return families;
}

function parseSample(line: string): Sample {
  const [, name = '', , labelText = '', value = ''] =
    /^([a-zA-Z_:][\w:]*)(\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$/.exec(line) ?? [];
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
  if (name === '' || (Number.isNaN(number) && value !== 'NaN')) throw new Error(`not a sample: ${line}`);
  const pairs = [...labelText.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
  return { name, labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])), value: number };
}

/** What is wrong with a page, a line each: what `promtool check metrics` looks at, and what breaks a scrape. */
export function lint(families: ReadonlyMap<string, Family>): readonly string[] {
  const seen = new Set<string>();
  return [...families.values()].flatMap((family) => [
    ...lintFamily(family),
    ...family.samples.flatMap(({ name, labels }) => {
      const series = `${name}${JSON.stringify(Object.entries(labels).sort())}`;
      const again = seen.has(series);
      seen.add(series);
      return again ? [`${series} is there twice`] : [];
    }),
  ]);
}

function lintFamily({ name, help, type, samples }: Family): readonly string[] {
  const suffixes =
    type === 'histogram' ? ['_bucket', '_sum', '_count'] : type === 'summary' ? ['', '_sum', '_count'] : [''];
  const names = suffixes.map((suffix) => name + suffix);
  return [
    ...(help === '' ? [`${name} has no HELP`] : []),
    ...(['counter', 'gauge', 'histogram', 'summary'].includes(type) ? [] : [`${name} is of type "${type}"`]),
    ...(type === 'counter' && !name.endsWith('_total') ? [`counter ${name} should end with _total`] : []),
    ...(samples.length === 0 ? [`${name} has no samples`] : []),
    ...samples.filter((sample) => !names.includes(sample.name)).map((sample) => `${sample.name} stands under ${name}`),
    ...(type === 'histogram' ? lintBuckets(name, samples) : []),
  ];
}

function lintBuckets(name: string, samples: readonly Sample[]): readonly string[] {
  const groups = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels: { le, ...labels } }) => JSON.stringify(labels),
  );
  return [...groups].flatMap(([labels, buckets]) => {
    const counts = buckets.map(({ value }) => value);
    const isAscending = counts.every((count, index) => index === 0 || count >= (counts[index - 1] ?? 0));
    return [
      ...(buckets.at(-1)?.labels.le === '+Inf' ? [] : [`${name}${labels} has no bucket +Inf at its end`]),
      ...(isAscending ? [] : [`buckets of ${name}${labels} do not add up`]),
    ];
  });
}

/** The value of a series that is there once; `undefined` when it is not there. */
export function seriesOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
  const wanted = Object.entries(labels);
  return all.find((sample) => wanted.every(([label, value]) => sample.labels[label] === value))?.value;
}
