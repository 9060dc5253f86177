/** Scenario d: the claim engine alone, against the database's own limit. */
@NullMarked
package io.exactlyonce.benchmarks.claims;

import org.jspecify.annotations.NullMarked;
