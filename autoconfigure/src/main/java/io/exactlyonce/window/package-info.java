/** The visibility window against the time that deliveries take. Pure. */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
