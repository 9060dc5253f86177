/**
 * The visibility window against the time that deliveries take. How long it should be, by which
 * rule. Pure arithmetic.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
