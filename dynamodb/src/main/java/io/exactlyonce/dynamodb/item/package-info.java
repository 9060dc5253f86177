/** Claims as items of a table, and the conditional writes that change them. Knows no client. */
@NullMarked
package io.exactlyonce.dynamodb.item;

import org.jspecify.annotations.NullMarked;
