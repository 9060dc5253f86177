/** Claims as rows of one PostgreSQL table. */
@NullMarked
package io.exactlyonce.claim.postgres;

import org.jspecify.annotations.NullMarked;
