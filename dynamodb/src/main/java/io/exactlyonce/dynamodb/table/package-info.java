/**
 * Internal: the claim table, which is created and checked before the first claim.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code dynamodb.item}.
 */
@NullMarked
package io.exactlyonce.dynamodb.table;

import org.jspecify.annotations.NullMarked;
