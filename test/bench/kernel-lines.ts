/** Virtual servers in a text of `ipvsadm -Sn`, as `-t 172.20.0.1:80`. */
export function virtualServers(save: string): readonly string[] {
  return [...save.matchAll(/^-A (\S+ \S+) /gm)].map(([, server = '']) => server);
}

/** Real servers in such a text, each with its virtual server. */
export function realServers(save: string): readonly { readonly server: string; readonly real: string }[] {
  return [...save.matchAll(/^-a (\S+ \S+) -r (\S+) /gm)].map(([, server = '', real = '']) => ({ server, real }));
}
