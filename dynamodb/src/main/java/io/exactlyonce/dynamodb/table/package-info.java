/** The claim table: created and checked before the first claim. */
@NullMarked
package io.exactlyonce.dynamodb.table;

import org.jspecify.annotations.NullMarked;
