/**
 * Internal: settings of PostgreSQL that properties name, also in applications without the module {@code postgres}. Uses no
 * other package.
 */
@NullMarked
package io.exactlyonce.postgres;

import org.jspecify.annotations.NullMarked;
