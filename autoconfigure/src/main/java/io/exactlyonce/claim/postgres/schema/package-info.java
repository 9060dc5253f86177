/**
 * The claims' table: its versions, its migration, its check at the start. Internal; of ours it uses the base
 * package only.
 */
@NullMarked
package io.exactlyonce.claim.postgres.schema;

import org.jspecify.annotations.NullMarked;
