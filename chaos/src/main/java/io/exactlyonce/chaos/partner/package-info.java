/** The payment partner: an HTTP server with two ledgers, in the harness's process, which no fault hits. */
@NullMarked
package io.exactlyonce.chaos.partner;

import org.jspecify.annotations.NullMarked;
