/** The contract of claim stores, as tests: an author of a {@link io.exactlyonce.claim.ClaimStore} runs it. */
@NullMarked
package io.exactlyonce.test.contract;

import org.jspecify.annotations.NullMarked;
