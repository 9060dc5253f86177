/** A stand-in for the services that the worker calls: the card provider with its ledger, and a slow mail service. */
@NullMarked
package io.exactlyonce.sample.provider;

import org.jspecify.annotations.NullMarked;
