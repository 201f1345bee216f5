/** What a store keeps: ids, and items as bytes. @module */

declare const itemId: unique symbol
declare const encodedItem: unique symbol

/** The id of an item: a UUID in lower case (spec §2.1). Made by `newItemId` and `parseItemId`. */
export type ItemId = string & { readonly [itemId]: true }

/** One item as JSON text in UTF-8, `id` and `project_id` included. Made by `encodeItem`. */
export type EncodedItem = Buffer & { readonly [encodedItem]: true }
