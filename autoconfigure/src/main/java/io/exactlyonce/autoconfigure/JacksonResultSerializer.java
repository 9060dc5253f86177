package io.exactlyonce.autoconfigure;

import io.exactlyonce.result.ResultSerializer;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Writes and reads results as JSON, with a mapper that is copied from the application's. The application's mapper may
 * create an object of any class that the stored JSON names. The copy never does this, because it would be unsafe.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    /**
     * Types that {@link #whyUnreadable} has accepted. A repeated check would be slow, because Jackson throws an
     * exception in most checks. The set stays small, because an application has few result types.
     */
    private final Set<Type> readable = ConcurrentHashMap.newKeySet();

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public String toJson(Object result, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }

    /**
     * Returns why Jackson cannot read results of this type; {@code null} if it can. As a trial, the method reads an
     * empty JSON object as this type. An {@link InvalidDefinitionException} means that Jackson cannot read the type at
     * all. Any other exception only means that an empty object does not fit the type.
     */
    @Override
    public @Nullable String whyUnreadable(Type type) {
        if (readable.contains(type)) {
            return null;
        }
        try {
            fromJson("{}", type);
        } catch (InvalidDefinitionException unreadable) {
            return unreadable.getOriginalMessage();
        } catch (JacksonException unfit) {
            // Jackson can read the type, although not from an empty object.
        }
        readable.add(type);
        return null;
    }
}
