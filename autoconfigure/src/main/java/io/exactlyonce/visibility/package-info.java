/** Visibility windows and leases: when they are renewed, by whom, and what happens when a renewal fails. */
@NullMarked
package io.exactlyonce.visibility;

import org.jspecify.annotations.NullMarked;
