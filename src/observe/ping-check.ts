/** Answers `/healthz` of the metrics server, which has one check, `ping`, that always succeeds. */
export function pingCheck(query: URLSearchParams): string {
  if (!query.has('verbose')) return 'ok';
  const excluded = query.getAll('exclude').flatMap((names) => names.split(','));
  const unknown = excluded.filter((name) => name !== '' && name !== 'ping');
  const warning = unknown.map((name) => JSON.stringify(name)).join(',');
  return [
    excluded.includes('ping') ? '[+]ping excluded: ok' : '[+]ping ok',
    ...(warning === '' ? [] : [`warn: some health checks cannot be excluded: no matches for ${warning}`]),
    'healthz check passed',
    '',
  ].join('\n');
}
