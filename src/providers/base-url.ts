/** Which upstream addresses a document may name: https, or http on this machine or a private network. */
import { BlockList, isIP } from 'node:net';

const loopbackOrPrivate = new BlockList();
loopbackOrPrivate.addSubnet('127.0.0.0', 8, 'ipv4');
loopbackOrPrivate.addSubnet('10.0.0.0', 8, 'ipv4');
loopbackOrPrivate.addSubnet('172.16.0.0', 12, 'ipv4');
loopbackOrPrivate.addSubnet('192.168.0.0', 16, 'ipv4');
loopbackOrPrivate.addSubnet('100.64.0.0', 10, 'ipv4');
loopbackOrPrivate.addAddress('::1', 'ipv6');
loopbackOrPrivate.addSubnet('fc00::', 7, 'ipv6');

/** Link-local ranges and the fixed addresses where clouds hand out credentials. */
const metadata = new BlockList();
metadata.addSubnet('169.254.0.0', 16, 'ipv4');
metadata.addSubnet('0.0.0.0', 8, 'ipv4');
metadata.addAddress('100.100.100.200', 'ipv4');
metadata.addAddress('192.0.0.192', 'ipv4');
metadata.addSubnet('fe80::', 10, 'ipv6');
metadata.addAddress('fd00:ec2::254', 'ipv6');
metadata.addAddress('::', 'ipv6');

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
  const family = isIP(host);
  if (family !== 0) return loopbackOrPrivate.check(host, family === 4 ? 'ipv4' : 'ipv6');
  if (host === 'localhost' || !host.includes('.')) return true;
  return privateSuffixes.some((suffix) => host.endsWith(suffix));
}

function isMetadataHost(host: string): boolean {
  const family = isIP(host);
  if (family !== 0) return metadata.check(host, family === 4 ? 'ipv4' : 'ipv6');
  return metadataNames.has(host);
}
