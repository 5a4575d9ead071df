import type { Agent, ClientRequestArgs } from 'node:http';
import { isIPv6 } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

/**
 * Has an agent of hpagent ask the proxy for an IPv6 address in brackets, as `CONNECT` needs it; hpagent itself leaves them out. The
 * certificate is still held against the address alone. Source: RFC 9110, 9.3.6
 */
export function askInBrackets(agent: Agent): Agent {
  const dial = agent.createConnection.bind(agent);
  agent.createConnection = (options: ClientRequestArgs & ConnectionOptions, callback) => {
    const { host } = options;
    if (!host || !isIPv6(host)) return dial(options, callback);
    const hasIdentity = options.servername || options.checkServerIdentity;
    const identity: ConnectionOptions = {
      checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    };
    return dial({ ...options, host: `[${host}]`, ...(hasIdentity ? {} : identity) }, callback);
  };
  return agent;
}
