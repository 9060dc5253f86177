/** What accompanies deliveries: the log's context, observations (spans) and application events. It uses no meters. */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
