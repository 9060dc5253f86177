/** The payment partner: an HTTP server in the harness's process, which nobody kills, with two ledgers. */
@NullMarked
package io.exactlyonce.chaos.partner;

import org.jspecify.annotations.NullMarked;
