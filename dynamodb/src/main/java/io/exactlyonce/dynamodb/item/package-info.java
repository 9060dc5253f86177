/**
 * Internal: claims as items of a table, and the conditional writes that change the items. This package sends no
 * requests.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.backend} and {@code dynamodb.clock}.
 */
@NullMarked
package io.exactlyonce.dynamodb.item;

import org.jspecify.annotations.NullMarked;
