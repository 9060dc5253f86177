package io.exactlyonce.listener.expression;

import io.exactlyonce.claim.KeyRules;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;

/** Suggests remedies in error texts, with names of a type's properties. */
final class Suggestions {

    private static final int MOST = 4;

    private record Property(String name, Class<?> type) {}

    private Suggestions() {}

    /** Returns the remedy for an expression that reads a property, method or element that a value does not have. */
    static String properties(Known value) {
        Class<?> type = value.raw();
        List<String> names = of(type).map(Property::name).limit(MOST).toList();
        return "name a property or record component of %s%s"
                .formatted(type.getSimpleName(), names.isEmpty() ? "" : ", such as " + String.join(", ", names));
    }

    /** Returns the remedy for an expression that reads a field of a JSON node as if it were a property. */
    static String jsonField(String name) {
        return "read the field with .get('%s').asString(), or .asText() of Jackson 2".formatted(name);
    }

    /** Returns paths to a value's properties that can be a key, such as {@code #order.orderId.value}. */
    static List<String> usable(String path, Class<?> type) {
        List<Property> all = of(type).toList();
        List<String> usable = all.stream()
                .filter(property -> KeyRules.canBeKey(ClassUtils.resolvePrimitiveIfNecessary(property.type())))
                .map(property -> path + "." + property.name())
                .limit(MOST)
                .toList();
        boolean isWrapper = usable.isEmpty() && all.size() == 1 && all.get(0).type() != type;
        return isWrapper ? usable(path + "." + all.get(0).name(), all.get(0).type()) : usable;
    }

    private static Stream<Property> of(Class<?> type) {
        if (type.isRecord()) {
            return Arrays.stream(type.getRecordComponents())
                    .map(component -> new Property(component.getName(), component.getType()));
        }
        return Arrays.stream(BeanUtils.getPropertyDescriptors(type))
                .filter(property ->
                        property.getReadMethod() != null && !property.getName().equals("class"))
                .map(property -> new Property(property.getName(), property.getPropertyType()));
    }
}
