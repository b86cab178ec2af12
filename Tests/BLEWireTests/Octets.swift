extension [UInt8] {
    /// The octets that pairs of digits are; spaces between them are for the reader.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue).map { UInt8($0) }
        precondition(digits.count == hex.count { $0 != " " } && digits.count.isMultiple(of: 2), "bad octets: \(hex)")
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
