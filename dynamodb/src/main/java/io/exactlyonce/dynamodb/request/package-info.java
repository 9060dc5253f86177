/** Requests to the service: many writes or reads at once, with retries, in the form that IAM allows. */
@NullMarked
package io.exactlyonce.dynamodb.request;

import org.jspecify.annotations.NullMarked;
