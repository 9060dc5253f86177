/**
 * The visibility window against the time that deliveries take. Pure arithmetic; it uses {@code visibility} only.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
