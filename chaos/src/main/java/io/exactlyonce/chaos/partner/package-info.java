/** The payment partner: an HTTP server in the harness's process, which no fault hits, with two ledgers. */
@NullMarked
package io.exactlyonce.chaos.partner;

import org.jspecify.annotations.NullMarked;
