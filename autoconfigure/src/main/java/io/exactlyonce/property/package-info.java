/**
 * Internal: validates names and values of properties, for this module and for modules of claim stores.
 *
 * <p>This package uses {@code io.exactlyonce}.
 */
@NullMarked
package io.exactlyonce.property;

import org.jspecify.annotations.NullMarked;
