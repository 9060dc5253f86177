/** The table of claims: made, and looked at before the first claim. */
@NullMarked
package io.exactlyonce.dynamodb.table;

import org.jspecify.annotations.NullMarked;
