/**
 * A small state machine for the rules that only the store on DynamoDB has: takeover by measured time or by observation,
 * and completion in the transaction of the effect. Tests visit every state. The model in the module {@code
 * integration-tests} has the rules of all stores.
 */
package io.exactlyonce.dynamodb.model;
