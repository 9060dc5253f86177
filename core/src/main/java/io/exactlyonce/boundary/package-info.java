/**
 * The entry of foreign threads into the engine, the handling of crashes there, and failures: their causes, and how a log
 * shows texts of others. It uses no other package of ours.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
