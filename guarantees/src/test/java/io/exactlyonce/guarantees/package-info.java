/** Whether what {@code docs/contributing/evidence.md} names was shown by the build that is about to end. */
package io.exactlyonce.guarantees;
