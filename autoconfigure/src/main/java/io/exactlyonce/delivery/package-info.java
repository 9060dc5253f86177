/** A delivery's way: claim, handle under renewal, complete, then acknowledge or return. */
@NullMarked
package io.exactlyonce.delivery;

import org.jspecify.annotations.NullMarked;
