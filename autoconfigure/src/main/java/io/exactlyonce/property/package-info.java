/**
 * Internal: validates names and values of properties, for the wiring of this module and of stores' modules.
 *
 * <p>This package uses {@code io.exactlyonce}.
 */
@NullMarked
package io.exactlyonce.property;

import org.jspecify.annotations.NullMarked;
