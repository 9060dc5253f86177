/** The contract of claim stores as JUnit tests, which the author of a {@link io.exactlyonce.claim.ClaimStore} runs. */
@NullMarked
package io.exactlyonce.test.contract;

import org.jspecify.annotations.NullMarked;
