/** The engine's clock and random numbers, which tests can control. It uses only the package {@code boundary}. */
@NullMarked
package io.exactlyonce.time;

import org.jspecify.annotations.NullMarked;
