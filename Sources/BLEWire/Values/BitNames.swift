extension OptionSet where RawValue: FixedWidthInteger & UnsignedInteger {
    /// Returns the names of the bits that are set, lowest bit first, or "none" if no bit is set.
    ///
    /// `table` contains the names, starting with that of bit 0. A bit without a name is shown with its number.
    func names(of table: [String]) -> String {
        if rawValue == 0 { return "none" }
        let set = (0..<RawValue.bitWidth).filter { rawValue >> RawValue($0) & 1 == 1 }
        return set.map { $0 < table.count ? table[$0] : "bit \($0)" }.joined(separator: ", ")
    }
}

extension WireField where Self: RawRepresentable, RawValue == Raw {
    /// Creates the value whose code is `wire`; returns `nil` if the specification reserves it.
    package init?(wire: Raw) { self.init(rawValue: wire) }
    package var wire: Raw { rawValue }
}
