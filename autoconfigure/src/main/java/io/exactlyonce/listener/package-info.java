/** The only place that knows awspring: the aspect, key expressions, and the container's components. */
@NullMarked
package io.exactlyonce.listener;

import org.jspecify.annotations.NullMarked;
