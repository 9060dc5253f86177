/**
 * Internal: types of the properties for PostgreSQL. They are in this module, because applications have these properties
 * even without the module {@code postgres}.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.postgres;

import org.jspecify.annotations.NullMarked;
