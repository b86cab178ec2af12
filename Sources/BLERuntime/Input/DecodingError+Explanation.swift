extension DecodingError {
    /// A description of the error, with the path to its place in the file, such as `services[0].uuid`.
    package var explanation: String {
        switch self {
        case .keyNotFound(let key, let context): "“\(key.stringValue)” is missing\(context.place)"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(context.debugDescription)\(context.place)"
        case .dataCorrupted(let context):
            if !context.codingPath.isEmpty {
                "\(context.debugDescription)\(context.place)"
            } else if context.debugDescription == Self.noJSON {
                "it is not valid JSON"
            } else {
                "it is not valid JSON: \(context.debugDescription)"
            }
        @unknown default: "\(self)"
        }
    }

    /// The description that the JSON decoder gives to text that is not JSON.
    private static var noJSON: String { "The given data was not valid JSON." }
}

extension DecodingError.Context {
    /// The last part of a sentence, which says where in the file the error is; empty at the top level.
    fileprivate var place: String {
        guard !codingPath.isEmpty else { return "" }
        let path = codingPath.reduce(into: "") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue
        }
        return ", at \(path)"
    }
}
