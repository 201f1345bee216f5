/** Strings that often break software, by kind. The service has to send each of them back unchanged. */

const control = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')

export const strings: Record<string, readonly string[]> = {
  'keywords of programming languages': [
    ...['undefined', 'null', 'NULL', 'nil', 'None', 'NaN', 'Infinity', 'true', 'False'],
    ...['[object Object]', 'constructor', '__proto__', 'hasOwnProperty', 'toJSON', 'then'],
  ],
  numbers: [
    ...['0', '-0', '1.00', '1e3', '0x10', '007', '1,5', '1/0', '-9223372036854775808'],
    ...['0.1e-400', '١٢٣', '½', 'Ⅷ'],
  ],
  space: ['', ' ', '\t', '\r\n', '\u00a0', '\u1680', '\u2003', '\u3000', '\u200b', '\ufeff', ' a '],
  'control characters': [control, '\u007f', '\u0080\u009f', '\u0000', 'a\u0000b', '\u001b[31mred'],
  'invisible characters': [
    '\u00ad',
    '\u034f',
    '\u061c',
    '\u2060\u2061\u2064',
    '\u{e0001}\u{e007f}',
    '\ufe0f',
  ],
  'text directions': ['\u202eabc\u202c', '\u2066left\u2069', 'אבג abc דהו', 'مرحبا بالعالم 123'],
  'combining characters': [
    ...['e\u0301', 'é', `a${'\u0300\u0316\u0489'.repeat(40)}`, '각', '\u1100\u1161\u11a8', 'ﷺ'],
    ...['नमस्ते'],
  ],
  'emoji of several characters': ['👩‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇪🇺', '1️⃣', '🦄'.repeat(100)],
  'letters whose length depends on their case': ['ß', 'İ', 'ı', 'ﬃ', 'ŉ', 'Σσς', 'Ⱥ'],
  'letters that look alike': ['раураl', 'Αpple', 'l1I|', 'rn m', '𝒶𝓫𝔠', 'ｆｕｌｌ'],
  'noncharacters of Unicode': ['\uffff', '\ufffe', '\ufdd0', '\u{10ffff}', '\ufffd'],
  quotes: ['"', "'", '`', '\\', '\\"', '\\\\"', '\'"`\\', '“”‘’«»', '""', "''"],
  'the syntax of JSON': ['{}', '[]', '{"id":"x"}', '","id":"x', '}]}', '\\u0041', '\\', ',', ':'],
  'the syntax of HTTP': [
    ...['\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '0\r\n\r\n'],
    ...['X-Session-Id: a', '%0d%0a', '%00', '%'],
  ],
  'the syntax of SQL': ["'; DROP TABLE items; --", "' OR 1=1 --", '1;SELECT pg_sleep(9)', '%', '_'],
  'the syntax of HTML': [
    ...['<script>alert(1)</script>', '</textarea><img src=x onerror=alert(1)>'],
    ...['&lt;&amp;&#x41;', '<!--', ']]>', 'javascript:alert(1)'],
  ],
  'the syntax of shells and templates': [
    ...['$(reboot)', '`id`', '; ls', '| cat', '$HOME', '%PATH%', `$${'{7*7}'}`, '{{7*7}}'],
    ...['<%= 7 %>', '%s%n%x', `$${'{jndi:ldap://a}'}`],
  ],
  'paths and names of files': [
    ...['../../etc/passwd', '..\\..\\x', '/dev/null', 'C:\\con\\con', 'nul', 'file:///', '~'],
    ...['.'],
  ],
  'regular expressions': ['(a+)+$', '[', '.*', '\\', '(?=x)', '^$', 'a{99999}'],
  'formulas of spreadsheets': ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1'],
  'dates and times': ['0000-00-00', '2024-02-30', '1970-01-01T00:00:60Z', '24:00', '9999999999999'],
  'long strings': ['x'.repeat(65_535), 'é'.repeat(32_768), '🦄'.repeat(16_384)],
}
