/**
 * The claims' table: its versions, its migration, its check at the start. Internal; it uses no other package of ours.
 */
@NullMarked
package io.exactlyonce.claim.postgres.schema;

import org.jspecify.annotations.NullMarked;
