/** Unusual but valid JSON texts (RFC 8259), by description. The service must keep them byte for byte. */

const raw = String.raw

export const accepted: Record<string, string> = {
  'negative zero': '[-0,-0.0,-0e0,0E+0,0e-0]',
  'hundreds of digits': `[${'1'.repeat(400)},-${'9'.repeat(400)},0.${'0'.repeat(400)}1]`,
  'exponents that no double can have': '[1e309,-1E+9999999999,1e-99999999999]',
  'fractions with trailing zeros': '[1.0,1.50000,0.0,100.00e1]',
  'integers beyond 53 and 64 bits': '[9007199254740993,18446744073709551616,-9223372036854775809]',
  'the smallest and the largest double': '[5e-324,2.2250738585072011e-308,1.7976931348623157e308]',
  'every short escape': raw`"\" \\ \/ \b \f \n \r \t"`,
  'escapes of control characters': raw`"\u0000\u0001\u001f\u007f\u0080"`,
  'an escaped surrogate pair': raw`"\ud834\udd1e"`,
  'lone surrogates, and a swapped pair': raw`["\ud800","\udfff","\udd1e\ud834","\ud834x"]`,
  'escaped backslashes and quotes': raw`["\\\\","\\\"","\\u0041"]`,
  'noncharacters of Unicode': '"\uffff\ufffe\ufdd0\u{1fffe}"',
  'first and last characters by length in UTF-8': '"\u007f\u0080\u07ff\u0800\uffff\u{10000}"',
  'all four kinds of white space': '[ \t\n\r1 \t\n\r,\r\n{\t"a"\n:\r2 } ]',
  'a repeated name, deep inside': '{"a":{"b":1,"b":2,"b":{"b":3}}}',
  'a repeated name, once escaped': raw`{"a":{"b":1,"\u0062":2}}`,
  'names that are numbers': '{"2":1,"10":2,"1":3,"-1":4,"1.0":5,"01":6}',
  'names that are special in JavaScript and databases':
    '{"__proto__":{"x":1},"constructor":1,"prototype":2,"$ref":"#","$where":"1","@type":"x"}',
  'names with dots and dollars': '{"a.b":1,"a":{"b":2},"$set":{"a":3},"a[0]":4}',
  'a string that contains JSON': raw`"{\"a\":1,\"id\":\"x\"}"`,
  'arrays a thousand deep': `${'['.repeat(1000)}${']'.repeat(1000)}`,
  'ten thousand elements': `[${'0,'.repeat(9_999)}0]`,
}
