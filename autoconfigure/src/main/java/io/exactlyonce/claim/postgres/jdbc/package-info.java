/**
 * How statements reach PostgreSQL: settings, arrays, retries, one round trip. Internal to the store; it uses {@code claim}
 * and {@code primary}.
 */
@NullMarked
package io.exactlyonce.claim.postgres.jdbc;

import org.jspecify.annotations.NullMarked;
