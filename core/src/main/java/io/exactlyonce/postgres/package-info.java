/**
 * Internal: settings of PostgreSQL that properties name, also in applications without the module {@code postgres}.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.postgres;

import org.jspecify.annotations.NullMarked;
