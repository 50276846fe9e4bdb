/** Which upstream addresses a document may name: https, or http on this machine or a private network. */
import { BlockList, isIP } from 'node:net';

/** `network/prefix`, a plain address being itself alone. */
const loopbackOrPrivate: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
];

/** Link-local ranges and the fixed addresses where clouds hand out credentials. */
const metadata: readonly string[] = [
  '169.254.0.0/16',
  '0.0.0.0/8',
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fe80::/10',
  'fd00:ec2::254/128',
  '::/128',
];

const privateSuffixes = ['.localhost', '.local', '.internal', '.lan', '.svc', '.home.arpa'];
const metadataNames = new Set(['metadata', 'metadata.google.internal', 'instance-data']);

/** Why `text` cannot be a provider's base URL, in words that quote no secret; null = it can. */
export function baseUrlFault(text: string): string | null {
  if (text.length > 2048) return 'is longer than 2048 characters';
  if (!URL.canParse(text)) return 'is not a URL: write it as https://host/path';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://';
  if (url.username !== '' || url.password !== '') {
    return 'must hold no user name or password: put the key in api_keys as env:NAME';
  }
  if (url.search !== '' || url.hash !== '') return 'must end with the path, without ? or #';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isMetadataHost(host)) return 'names a link-local or cloud metadata address, which is refused';
  if (url.protocol === 'http:' && !isLocalHost(host)) {
    return 'must be https: plain http is accepted only for loopback and private hosts';
  }
  return null;
}

/** Without trailing slashes. */
export function normalizedBaseUrl(text: string): string {
  return text.replace(/\/+$/, '');
}

/** Whether `host` is this machine, a private address, or a name that only a private network knows. */
export function isLocalHost(host: string): boolean {
  if (isIP(host) !== 0) return isWithin(host, loopbackOrPrivate);
  if (host === 'localhost' || !host.includes('.')) return true;
  return privateSuffixes.some((suffix) => host.endsWith(suffix));
}

function isMetadataHost(host: string): boolean {
  return isIP(host) !== 0 ? isWithin(host, metadata) : metadataNames.has(host);
}

/** IPv4 addresses written as IPv6 ones are found too. */
function isWithin(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [start = '', prefix = ''] = network.split('/');
    list.addSubnet(start, Number(prefix), isIP(start) === 4 ? 'ipv4' : 'ipv6');
  }
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
