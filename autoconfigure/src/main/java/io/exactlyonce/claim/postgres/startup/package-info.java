/**
 * Whether claims can be kept, found out beside the application's start. Internal; it uses {@code primary} and the claims'
 * {@code schema}.
 */
@NullMarked
package io.exactlyonce.claim.postgres.startup;

import org.jspecify.annotations.NullMarked;
