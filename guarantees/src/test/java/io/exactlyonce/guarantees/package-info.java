/** Checks that this build has run the tests that {@code docs/contributing/evidence.md} names. */
package io.exactlyonce.guarantees;
